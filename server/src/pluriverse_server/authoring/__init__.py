"""What helps an author: ways from an unknown program to an environment that has been tested."""
