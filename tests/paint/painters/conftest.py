"""Small painters, made on disk: a VQGAN, a CLIP, and a pipeline of Stable Diffusion."""

from pathlib import Path

import pytest

from gnomon.paint.records import PaintRequest, seed_of
from gnomon.records import Item

WORDS = "a an the and of in on cat dog ant bird man car drives washes box picture is".split()


def scene(id="size/ant/bird", text="An ant and a bird.", gold="smaller", things=("ant", "bird")):
    """An item to be painted."""
    tags = {"thing_a": things[0], "thing_b": things[1]}
    return Item(
        id=id, form="scene", text=text, choices=("larger", "smaller"), gold=(gold,), tags=tags
    )


def request(item=None, number=0, seed=None):
    """One picture of it."""
    item = item or scene()
    seed = seed_of(item.id, number) if seed is None else seed
    return PaintRequest(item, number, item.text, seed)


def tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    known = {word: n for n, word in enumerate(["<s>", "</s>", "<pad>", "<unk>", *WORDS])}
    made = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("<s>", 0), ("</s>", 1)]
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=16,
    )


def text_config():
    return {
        "vocab_size": len(WORDS) + 4,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "max_position_embeddings": 16,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 2,
    }


@pytest.fixture(scope="session")
def clip(tmp_path_factory) -> Path:
    """A CLIP that looks at pictures of 32 pixels."""
    torch = pytest.importorskip("torch")
    import transformers

    torch.manual_seed(1)
    seeing = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
    }
    config = transformers.CLIPConfig(
        text_config=text_config(), vision_config=seeing, projection_dim=8
    )
    folder = tmp_path_factory.mktemp("clip")
    made = transformers.CLIPModel(config)
    for name, weight in made.named_parameters():  # so that it sees a difference
        if name.startswith("vision_model") and weight.ndim > 1:
            weight.data *= 3
    made.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def vqgan(tmp_path_factory) -> Path:
    """A VQGAN that decodes latents of 4 x 16 x 16 to 32 x 32 pixels."""
    torch = pytest.importorskip("torch")
    diffusers = pytest.importorskip("diffusers")
    torch.manual_seed(2)
    made = diffusers.VQModel(
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        num_vq_embeddings=8,
        norm_num_groups=4,
        vq_embed_dim=4,
    )
    made.decoder.conv_out.weight.data *= 8  # so that pictures have contrasts
    folder = tmp_path_factory.mktemp("vqgan")
    made.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def diffusion(tmp_path_factory) -> Path:
    """A Stable Diffusion that paints 32 x 32 pixels."""
    torch = pytest.importorskip("torch")
    diffusers = pytest.importorskip("diffusers")
    import transformers

    torch.manual_seed(3)
    text = transformers.CLIPTextConfig(**text_config(), projection_dim=8)
    blocks = {"layers_per_block": 1, "norm_num_groups": 4}
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(8, 16),
        sample_size=16,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
        **blocks,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        **blocks,
    )
    pipe = diffusers.StableDiffusionPipeline(
        vae=vae,
        text_encoder=transformers.CLIPTextModel(text),
        tokenizer=tokenizer(),
        unet=unet,
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    folder = tmp_path_factory.mktemp("diffusion")
    pipe.save_pretrained(folder)
    return folder
