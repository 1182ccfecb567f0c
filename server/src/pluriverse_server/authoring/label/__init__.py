"""Says, in the browser, what a recording's score really was."""
