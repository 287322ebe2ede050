"""What stands between the pipeline and a model: the bound client and the ledger."""
