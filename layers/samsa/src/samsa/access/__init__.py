"""What access control goes by, in memory: ACLs, SCRAM credentials and quotas of the store."""
