"""Tables, figures and pages: from a build's frames to the book."""

import logging

# where its own folder cannot be written, matplotlib would say so on the pages
logging.getLogger("matplotlib").setLevel(logging.ERROR)
