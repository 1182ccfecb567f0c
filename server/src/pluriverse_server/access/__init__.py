"""Who may connect, what each may do, and how often a password may be guessed.

Pure, but for the audit log: times are passed in.
"""
