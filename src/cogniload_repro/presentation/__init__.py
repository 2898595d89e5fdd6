"""Tables, figures and pages: from a build's frames to the book."""
