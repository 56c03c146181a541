"""Models that look at a picture and say whether a caption is true of it, finetuned as VSR's."""
