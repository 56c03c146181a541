"""The attacks are programs that import each other; only the tests that start them are collected."""

from pathlib import Path

HERE = Path(__file__).parent
collect_ignore = [file.name for file in HERE.glob("*.py") if not file.name.startswith("test_")]
