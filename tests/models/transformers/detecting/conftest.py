"""Small detectors and depth maps on disk with random weights, as their authors would publish them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NAMES = {0: "Person", 1: "dining_table", 2: "cat"}
WIDE = {"shortest_edge": 32, "longest_edge": 64}
RESNET = {
    "embedding_size": 8,
    "hidden_sizes": [8, 8, 8, 8],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
}
SMALL = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "num_queries": 6,
}
TEXT = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 16,
}
SIGHT = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}
SWIN = {"embed_dim": 8, "depths": [1, 1], "num_heads": [1, 1], "window_size": 2, "image_size": 32}


def detr():
    import transformers as t

    backbone = t.ResNetConfig(**RESNET, out_features=["stage4"])
    config = t.DetrConfig(backbone_config=backbone, use_timm_backbone=False, **SMALL)
    return config, "DetrForObjectDetection", "DetrImageProcessor", WIDE


def rt_detr():
    import transformers as t

    stages = ["stage2", "stage3", "stage4"]
    backbone = t.RTDetrResNetConfig(**RESNET, out_features=stages)
    few = {key: value for key, value in SMALL.items() if key != "encoder_layers"}
    config = t.RTDetrConfig(
        backbone_config=backbone,
        encoder_hidden_dim=16,
        encoder_in_channels=[8, 8, 8],
        decoder_in_channels=[16, 16, 16],
        hidden_expansion=1.0,
        num_denoising=0,
        **few,
    )
    square = {"height": 64, "width": 64}
    return config, "RTDetrForObjectDetection", "RTDetrImageProcessor", square


def yolos():
    import transformers as t

    sight = {**SIGHT, "image_size": [32, 64]}
    config = t.YolosConfig(**sight, num_detection_tokens=5)
    return config, "YolosForObjectDetection", "YolosImageProcessor", WIDE


def owlv2(size: int):
    import transformers as t

    text = {**TEXT, "vocab_size": size, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    config = t.Owlv2Config(text_config=text, vision_config=SIGHT, projection_dim=16)
    square = {"height": 32, "width": 32}
    return config, "Owlv2ForObjectDetection", "Owlv2ImageProcessor", square


def grounding(size: int):
    import transformers as t

    text = {**TEXT, "vocab_size": size}
    config = t.GroundingDinoConfig(
        backbone_config=t.SwinConfig(**SWIN, out_indices=[1, 2]),
        text_config=t.BertConfig(**text),
        num_feature_levels=2,
        fusion_dropout=0.0,
        fusion_droppath=0.0,
        max_text_len=16,
        encoder_n_points=1,
        decoder_n_points=1,
        use_timm_backbone=False,
        **{**SMALL, "d_model": 32, "decoder_layers": 2},
    )
    return config, "GroundingDinoForObjectDetection", "GroundingDinoImageProcessor", WIDE


def depth_anything():
    import transformers as t

    backbone = t.Dinov2Config(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
        out_indices=[1, 2],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = t.DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=16,
        patch_size=14,
        reassemble_factors=[2, 1],
        neck_hidden_sizes=[8, 8],
        fusion_hidden_size=8,
        head_in_index=-1,
        head_hidden_size=8,
    )
    square = {"height": 28, "width": 28}
    return config, "DepthAnythingForDepthEstimation", "DPTImageProcessor", square


def dpt():
    import transformers as t

    config = t.DPTConfig(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=8,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
    )
    return config, "DPTForDepthEstimation", "DPTImageProcessor", {"height": 32, "width": 32}


FIXED = {"detr": detr, "rt-detr": rt_detr, "yolos": yolos}
DEPTH = {"depth anything": depth_anything, "dpt": dpt}


def write(make: str, folder: Path, tokenizers) -> Path:
    import copy

    import torch
    import transformers
    from tokenizers.processors import TemplateProcessing

    from gnomon.models.transformers.loading import quiet

    tokenizer, processor = None, ""
    if make in FIXED or make in DEPTH:
        config, architecture, pictures, size = (FIXED | DEPTH)[make]()
    elif make == "owlv2":
        tokenizer = copy.deepcopy(tokenizers("byte-level"))
        tokenizer._tokenizer.post_processor = TemplateProcessing(
            single="$A </s>",  # a text that begins with token 0 counts as none
            special_tokens=[("</s>", 1)],
        )
        tokenizer.model_max_length = 16
        config, architecture, pictures, size = owlv2(len(tokenizer))
        processor = "Owlv2Processor"
    else:
        tokenizer = tokenizers("wordpiece")
        config, architecture, pictures, size = grounding(len(tokenizer))
        processor = "GroundingDinoProcessor"
    if make in FIXED:
        config.id2label = NAMES
        config.label2id = {name: number for number, name in NAMES.items()}
    torch.manual_seed(len(make))
    with quiet():
        model = getattr(transformers, architecture)(config)
        for weights in model.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.3)  # so that boxes differ
        if make == "owlv2":
            model.class_head.logit_shift.bias.data.fill_(1.0)  # so that something is found
        model.save_pretrained(folder)
        if tokenizer is not None:
            tokenizer.save_pretrained(folder)
    said = {"image_processor_type": pictures, "size": size, "do_resize": True}
    if processor:
        said["processor_class"] = processor
        (folder / "processor_config.json").write_text(json.dumps({"processor_class": processor}))
    (folder / "preprocessor_config.json").write_text(json.dumps(said))
    return folder


@pytest.fixture(scope="session")
def detecting(tmp_path_factory, tokenizers):
    """The folder of a small model of some make, written once."""
    pytest.importorskip("torch")
    made: dict[str, Path] = {}

    def get(make: str) -> Path:
        if make not in made:
            made[make] = write(make, tmp_path_factory.mktemp("detector"), tokenizers)
        return made[make]

    return get


@pytest.fixture(scope="session")
def photo():
    np = pytest.importorskip("numpy")
    pil = pytest.importorskip("PIL.Image")
    return pil.fromarray(np.random.default_rng(3).integers(0, 256, (48, 64, 3), dtype=np.uint8))
