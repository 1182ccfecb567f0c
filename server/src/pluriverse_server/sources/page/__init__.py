"""The ``page`` source: what happens in a browser's page, read through its DevTools."""
