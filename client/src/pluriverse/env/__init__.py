"""The vectorised environment: many remotes, stepped together, none waited for."""
