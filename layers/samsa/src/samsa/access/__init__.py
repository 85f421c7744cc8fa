"""ACLs, SCRAM credentials and quotas of the store, in memory, and changes of them."""
