"""Records: plain, validated data without any I/O."""
