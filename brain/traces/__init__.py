"""What did an agent do, by the traces that it already writes? Readers of the known formats, one record for all."""
