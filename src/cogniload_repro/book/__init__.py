"""Tables, figures and pages: from a build's frames to the book."""

import logging

# otherwise matplotlib warns on the pages if it cannot write to its cache folder
logging.getLogger("matplotlib").setLevel(logging.ERROR)
