"""One step of GRPO with TRL, of a vision model that is made here, tiny and at random. Run by TRL's own interpreter.

Its answers are scripted, so that the rollouts of the group differ in what they earn; all else is TRL's own.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessorPil,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
)

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "examples/trainers"))

SPECIAL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|vision_start|>", "<|vision_end|>")
SPECIAL += ("<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
TEMPLATE = Path(trl.__file__).parent / "chat_templates/qwen3_vl.jinja"


class PicturesOnly(Qwen3VLProcessor):
    """What reads videos would need torchvision."""

    def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
        if argument_name != "video_processor":
            return super().check_argument_for_proper_class(argument_name, argument)
        return None


def processor() -> Any:
    """The processor of Qwen3-VL, whose tokens are bytes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
    return PicturesOnly(
        Qwen2VLImageProcessorPil(min_pixels=32 * 32, max_pixels=96 * 96, patch_size=16),
        tokenizer,
        None,
        chat_template=TEMPLATE.read_text(),
    )


def model(tokenizer: Any) -> Any:
    """A Qwen3-VL of some thousand weights."""
    sides = {"hidden_size": 32, "intermediate_size": 64, "num_heads": 2}
    text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{name.removesuffix('_token_id')}|>") for name in IDS}
    config = Qwen3VLConfig(
        text_config={**text, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": len(tokenizer)},
        vision_config={**sides, "depth": 2, "out_hidden_size": 32, "deepstack_visual_indexes": [0]},
        image_token_id=ids["image_pad_token_id"],
        video_token_id=ids["video_pad_token_id"],
        vision_start_token_id=ids["vision_start_token_id"],
        vision_end_token_id=ids["vision_end_token_id"],
    )
    torch.manual_seed(1)
    return Qwen3VLForConditionalGeneration(config)


IDS = ("image_pad_token_id", "video_pad_token_id", "vision_start_token_id", "vision_end_token_id")


def sample() -> str:
    """The trainer that the README shows."""
    blocks = (ROOT / "README.md").read_text().split("```python\n")[1:]
    (shown,) = (block.split("```")[0] for block in blocks if "GRPOTrainer" in block)
    return shown


def main(places: list[dict[str, int]], turns: int = 2, answer_s: float = 0.0) -> None:
    """Train one step of the README's trainer on a group whose rollouts click at ``places``; print its log as JSON.

    Each is asked ``turns`` times, the last time for a word, and the group is answered after ``answer_s`` seconds.
    """
    reader = processor()
    policy = model(reader.tokenizer)
    answering: list[float] = []
    answered: list[float] = []

    def generate(input_ids: Any, **_: Any) -> Any:
        """Answer the questions of each rollout with its click, and the last with a word."""
        answering.append(time.perf_counter())
        time.sleep(answer_s)
        pad = reader.tokenizer.pad_token_id
        rows = []
        for row, place in zip(input_ids, places, strict=True):
            acts = reader.tokenizer.decode(row).count("<tool_response>")
            call = json.dumps({"name": "click", "arguments": place})
            said = "Done." if acts == turns - 1 else f"<tool_call>\n{call}\n</tool_call>"
            rows.append(torch.tensor(reader.tokenizer(said + "<|im_end|>")["input_ids"]))
        answered.append(time.perf_counter())
        longest = max(map(len, rows))
        answers = torch.stack([torch.nn.functional.pad(row, (0, longest - len(row)), value=pad) for row in rows])
        return torch.cat([input_ids, answers], dim=1)

    policy.generate = generate
    before = {name: weights.detach().clone() for name, weights in policy.named_parameters()}
    with tempfile.TemporaryDirectory() as folder:
        make, configure = trl.GRPOTrainer, trl.GRPOConfig
        tiny = {
            "num_generations": len(places),
            "per_device_train_batch_size": len(places),
            "max_steps": 1,
            "learning_rate": 1e-2,
            "shuffle_dataset": False,
            "report_to": [],
            "use_cpu": True,
            "save_strategy": "no",
        }
        trl.GRPOConfig = lambda _, **given: configure(folder, **given | tiny)
        trl.GRPOTrainer = lambda _, **given: make(policy, processing_class=reader, **given)
        shown: dict[str, Any] = {}
        exec(sample(), shown)  # noqa: S102 - it is the README's
    trainer = shown["trainer"]
    (logged,) = (entry for entry in trainer.state.log_history if "reward" in entry)
    moved = {
        part: any(part in name and bool((weights != before[name]).any()) for name, weights in policy.named_parameters())
        for part in ("visual", "language_model")
    }
    took = {"answering_s": answered[-1] - answering[0]}
    print(json.dumps({"trl": trl.__version__, "moved": moved, **took, **logged}))


if __name__ == "__main__":
    main(*map(json.loads, sys.argv[1:]))
