"""The tokenizer that belongs to a model: one that knows words, not only its special tokens.

transformers chooses the class by the kind of model. Some models were trained with another one (many
Korean and Chinese ALBERTs use BERT's), and then it makes, without a word, a tokenizer to which
every text is unknown.
"""

from __future__ import annotations

from typing import Any

from gnomon.errors import ModelError


def load_tokenizer(name: str, **source: Any) -> Any:
    """The tokenizer of a hub name or folder: as transformers finds it, else BERT's."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(name, **source)
    if knows_words(tokenizer):
        return tokenizer
    other = transformers.BertTokenizerFast.from_pretrained(name, **source)
    if knows_words(other):
        return other
    raise ModelError(
        f"The tokenizer of {name} knows no words: all text would be the same to it.",
        "Put the files of its own tokenizer (tokenizer.json, vocab.txt ...) beside its weights.",
    )


def knows_words(tokenizer: Any) -> bool:
    """Whether there is anything in its vocabulary but special tokens."""
    return len(tokenizer) > len(set(tokenizer.all_special_tokens))
