"""The vectorised environment: many remotes, stepped together, without waiting for any of them."""
