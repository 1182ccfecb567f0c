"""Where rewards come from: what programs report, what a page says, and what is read of a program that says nothing."""
