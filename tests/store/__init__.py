"""Does every store keep the protocol, seen without the engine?"""
