"""Starting, watching and ending the program that draws."""
