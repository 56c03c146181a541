"""Plausible mistakes on the command line: each is answered by what is wrong, and by what to do.

A line of the table is a mistake, the exit code, and what the answer must say. Whatever is
answered is short, has no traceback, and proposes only options and commands that exist. To add a
mistake, add a line to the table of its command; RUN, OTHER and THIRD stand for runs.
"""

import re
import shlex
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import command_parser, main
from gnomon.errors import MissingExtraError
from gnomon.registry import COMMANDS, command

GENERAL = {
    "help run": (0, []),
    "run help": (0, []),
    "help rn": (2, ["command named 'rn'", "Did you mean run or runs?"]),
    "runn": (2, ["command named 'runn'", "Did you mean run or runs?"]),
    "frobnicate": (2, ["command named 'frobnicate'", "gnomon help"]),
    "evaluate scales": (2, ["command named 'evaluate'", "`gnomon run`"]),
    "delete runs": (2, ["command named 'delete'", "`gnomon runs rm`"]),
    "scales -m random": (2, ["It is a benchmark", "gnomon run scales -m random"]),
    "scales": (2, ["gnomon run scales -m MODEL"]),
    "-m random run scales": (2, ["'-m' stands before", "gnomon run -m random scales"]),
    "--verison": (2, ["no option --verison", "Did you mean --version?"]),
    "experiment.yaml": (2, ["It is a file", "gnomon run experiment.yaml -m MODEL"]),
    "completion basj": (2, ["'basj'", "Did you mean bash?"]),
    "demo --limit x": (2, ["--limit takes a whole number, not 'x'"]),
}
RUN_COMMAND = {
    "run": (2, ["run needs BENCHMARK", "gnomon run scales -m random"]),
    "run scales": (2, ["run needs -m MODEL", "gnomon list models"]),
    "run -m random": (2, ["run needs BENCHMARK", "gnomon run scales -m random"]),
    "run scales -m": (2, ["--model needs a value"]),
    "run scales -m random --lmit 5": (2, ["no option --lmit", "Did you mean --limit?"]),
    "run scales --modle random": (2, ["no option --modle", "Did you mean --model"]),
    "run scales -model random": (2, ["no option -model", "Write --model."]),
    "run scales -m random --per_group 2": (
        2,
        ["--per_group", "gnomon run scales -m random --set per_group=2"],
    ),
    "run scales -m random --num_fewshot 3": (2, ["--num_fewshot", "Write --shots."]),
    "run scales -m random --resume": (2, ["--resume", "same command is given again"]),
    "score runs --figures figures": (2, ["--figures", "gnomon report RUN... --figures DIR"]),
    "run scales --model hf --model_args dtype=float16,pretrained=gpt2": (2, ["Write -m hf:gpt2"]),
    "run scales -m random --model_args limit=3": (2, ["--model_args", "--set KEY=VALUE"]),
    "run benchmark=scales model=random": (2, ["run needs -m", "gnomon run scales -m random"]),
    "run photos -m random": (2, ["It is a folder", ".csv", "gnomon run FILE.csv -m MODEL"]),
    "run split.csv -m random": (1, ["split.csv:2", "quotes round a field that holds a comma"]),
    "run few.csv -m random": (1, ["few.csv:2", "Correct or remove the row"]),
    "run rooms.csv -m random": (
        1,
        ["rooms.yaml:2: not YAML", "rooms.yaml stands beside rooms.csv", "rename it"],
    ),
    "run --tasks scales -m random": (2, ["--tasks", "gnomon run NAME NAME"]),
    "run scales -m random --fresh": (2, ["--fresh", "--restart"]),
    "run scales -m random --scale size": (2, ["--scale", "--set scale=VALUE"]),
    "run scales -m random --set scale = size": (2, ["'scale'", "without spaces"]),
    "run scales -m random --set sclae=size": (2, ["'sclae'", "--set scale=VALUE"]),
    "run scales -m random --set scale=sise": (2, ["'sise'", "Did you mean size?"]),
    "run scales -m random --set form=clozee": (2, ["'clozee'", "Did you mean cloze?"]),
    "run scales -m random --limit": (2, ["--limit needs a value", "at most N items"]),
    "run scales -m random --limit --quiet": (2, ["--limit needs a value"]),
    "run scales -m random --limit all": (2, ["--limit takes a whole number, not 'all'"]),
    "run scales -m random --limit 1,000": (2, ["'1,000'", "--limit 1000"]),
    "run scales -m random --limit 0": (2, ["must be 1 or more, not 0", "leave it out for all"]),
    "run scales -m random --quiet=yes": (2, ["--quiet takes no value", "just --quiet"]),
    "run scales -m random --format xlsx": (2, ["'xlsx'", "table, json"]),
    "run scales -m random --seed abc": (2, ["seed must be int, not 'abc'", "whole number"]),
    "run scales -m random --shots 3": (2, ["'shots'", "gnomon list models random"]),
    "run scales -m smollm2 --set chat=maybe": (2, ["chat must be bool, not 'maybe'", "yes or no"]),
    "run scales -m random --shard 4/3": (2, ["no shard 4/3", "3/3 the last"]),
    "run scales -m random --shard 3": (2, ["'3' is not a shard", "--shard 3/8"]),
    "run scales -m random --workers many": (2, ["'many'", "--workers 4"]),
    "run scales -m random --prompts al": (2, ["'al'", "Did you mean all?"]),
    "run scalse -m random": (2, ["'scalse'", "Did you mean scales?"]),
    "run Scales -m random": (2, ["'Scales'", "Did you mean scales?"]),
    "run scales,spacenli -m random": (2, ["'scales,spacenli'", "scales spacenli"]),
    "run 'scales spacenli' -m random": (2, ["'scales spacenli'", "apart: scales spacenli"]),
    "run scales -m random,majority": (2, ["'random,majority'", "-m random -m majority"]),
    "run random -m scales": (2, ["'scales'", "It is a benchmark"]),
    "run random -m majority": (2, ["'random'", "It is a model", "-m random"]),
    "run runs -m random": (2, ["'runs'", "gnomon score runs"]),
    "run notes.txt -m random": (1, ["notes.txt: the file holds no items", "docs/formats.md"]),
    "run scales@publshed -m random": (2, ["'publshed'", "fresh, published"]),
    "run scales@published -m random": (1, ["published files", "gnomon data get", "--data DIR"]),
    "run scales@published -m random --data phtos": (1, ["phtos", "Did you mean photos?"]),
    "run scales -m randon": (2, ["'randon'", "Did you mean random?"]),
    "run scales -m gpt-4o": (2, ["'gpt-4o'", "openai:gpt-4o", "hf:gpt-4o"]),
    "run scales -m synth:rendr": (2, ["'synth:rendr'", "Did you mean synth:render?"]),
    "run scales -m hf": (2, ["hf needs a name", "hf:gpt2"]),
    "run scales -m gguf:missing.gguf": (1, ["missing.gguf: there is no such file", "gguf:PATH"]),
    "run scales -m openai:x --base-url localhost:1": (2, ["'localhost:1'", "--base-url"]),
    "run scales -m answers:nofile.csv": (1, ["nofile.csv", "answers:FILE"]),
    "run scales -m constant:yess": (2, ["'yess'", "yes"]),
    "run tems.jsonl -m random": (
        1,
        ["tems.jsonl: there is no such file", "Did you mean items.jsonl?"],
    ),
    "run empty.jsonl -m random": (1, ["empty.jsonl: the file holds no items", "docs/formats.md"]),
    "run utf16.jsonl -m random": (2, ["utf16.jsonl", "No column is known"]),
    "run spacenli -m random --set patterns=tabs.yaml": (1, ["tabs.yaml:2", "spaces"]),
    "run spacenli -m random --set patterns=latin.yaml": (1, ["latin.yaml:1", "UTF-8"]),
    "run spacenli -m random --set patterns=windows.yaml": (1, ["windows.yaml:3", "'nonsense'"]),
    "run spacenli -m random --set patterns=photos": (1, ["photos", "no .yaml file"]),
}
SUITES = {
    "run quik -m random": (2, ["benchmark or suite named 'quik'", "Did you mean quick?"]),
    "run quick": (2, ["names no models", "-m"]),
    "run quick -m random --dryrun": (2, ["no option --dryrun", "Did you mean --dry-run?"]),
    "run scales -m =random": (2, ["'=random'", "NAME=MODEL"]),
    "run scales -m Mine=randon": (2, ["'randon'", "Did you mean random?"]),
    "run scales -m ./tiny-lama": (2, ["./tiny-lama", "Did you mean tiny-llama?"]),
    "run expriment.yaml": (1, ["expriment.yaml", "Did you mean experiment.yaml?"]),
    "run experiment.yaml": (2, ["experiment.yaml:1", "'benchmark'", "Did you mean benchmarks?"]),
    "run tabs.yaml": (1, ["tabs.yaml:2", "spaces"]),
    "run empty.yaml": (2, ["empty.yaml is empty", "docs/running.md"]),
    "list suites quik": (2, ["'quik'", "Did you mean quick?"]),
}
TABLES = {
    "table rnus": (1, ["rnus is not a run", "Did you mean runs?"]),
    "table runs --format xlsx": (2, ["'xlsx'", "latex"]),
    "table runs --fromat latex": (2, ["no option --fromat", "Did you mean --format?"]),
    "ci": (2, ["ci needs"]),
    "ci int -m random": (2, ["'int'", "Did you mean init?"]),
    "ci init": (2, ["ci needs", "-m"]),
    "compare runs --fail-if-worse": (2, ["no new one", "gnomon compare OLD NEW"]),
    "compare runs --baseline nowhere": (1, ["nowhere"]),
    "cite scalse": (2, ["'scalse'", "Did you mean scales?"]),
    "cite --format bibtx": (2, ["'bibtx'", "Did you mean bibtex?"]),
}
OTHERS = {
    "score runs --answers a.csv": (2, ["either runs or a file", "gnomon score runs/*"]),
    "score rnus": (1, ["rnus is not a run", "Did you mean runs?"]),
    "score scales": (1, ["It is a benchmark", "gnomon run scales -m MODEL"]),
    "compare smollm2 random": (1, ["smollm2 is not a run", "It is a model", "gnomon runs list"]),
    "demo scales": (2, ["no place for 'scales'", "gnomon run scales -m MODEL"]),
    "runs delete RUN": (2, ["'delete'", "Did you mean rm?"]),
    "score RUN --measure kendall": (2, ["kendall needs answers", "fit these runs: accuracy"]),
    "report RUN -o r.pdf": (2, ["The page is HTML", "Name it r.html"]),
    "report RUN -o a.csv": (2, ["a.csv is there, and Gnomon did not write it"]),
    "score RUN --beliefs -o page.html": (2, ["page.html is there, and Gnomon did not write it"]),
    "make scales -o a.csv": (2, ["a.csv is there, and Gnomon did not write it", "Move it away"]),
    "score runs/scales": (1, ["runs/scales is not a run", "Did you mean runs/scales@fresh-"]),
    "score photos": (1, ["photos is not a run", "gnomon runs list"]),
    "score runs --json": (2, ["no option --json", "Write --format json."]),
    "score runs --format xlsx": (2, ["--format cannot be 'xlsx'", "table, json, csv"]),
    "score runs --by categry": (2, ["'categry'", "Did you mean category?"]),
    "score RUN --by scael": (2, ["'scael'", "Did you mean scale?"]),
    "score RUN --measure acuracy": (2, ["'acuracy'", "Did you mean accuracy?"]),
    "score RUN --measure agreement": (2, ["two runs", "gnomon compare"]),
    "score RUN --level 95": (2, ["not 95", "0.95"]),
    "score RUN --seed 3": (2, ["--seed belongs to", "Leave out --seed"]),
    "score --answers a.csv": (2, ["needs its benchmark", "--benchmark"]),
    "score --answers b.csv --benchmark scales": (1, ["b.csv: there is no such file", "a.csv?"]),
    "compare RUN": (2, ["one run is given", "two or more"]),
    "compare RUN THIRD": (2, ["on the same benchmark", "same items"]),
    "compare RUN OTHER --measure acuracy": (2, ["Did you mean accuracy?"]),
    "compare RUN OTHER --match fcat": (2, ["'fcat'", "Choose one of"]),
    "show": (2, ["show needs BENCHMARK", "gnomon show scales"]),
    "show scalse": (2, ["Did you mean scales?"]),
    "show scales --dryrun": (2, ["no option --dryrun", "gnomon show --help"]),
    "show scales -n many": (2, ["-n takes a whole number, not 'many'"]),
    "show scales -mrandom --model=smollm2": (2, ["takes one model", "gnomon show scales -mrandom"]),
    "show scales -m random -m smollm2": (2, ["takes one model", "gnomon show scales -m random\n"]),
    "power scales -m random --model majority": (
        2,
        ["one model", "gnomon power scales -m random\n"],
    ),
    "show scales --model=random --model=smollm2": (2, ["takes one model", "--model=random\n"]),
    "show scales spacenli": (2, ["no place for 'spacenli'", "It takes BENCHMARK"]),
    "make scales": (2, ["make needs -o FILE", "gnomon make scales -o"]),
    "make scales -o x.xlsx": (2, ["x.xlsx", ".jsonl"]),
    "make scales -o no/such/x.jsonl": (1, ["no/such/x.jsonl", "Make it first"]),
    "audit": (2, ["audit needs", "gnomon audit scales"]),
    "audit scales --prove": (2, ["for patterns", "pattern file"]),
    "audit scales --check validation": (2, ["no file of items", "gnomon audit scales"]),
    "audit tbas.yaml": (1, ["tbas.yaml", "Did you mean tabs.yaml?"]),
    "audit tabs.yaml": (1, ["tabs.yaml:2", "spaces"]),
    "audit empty.yaml": (1, ["empty.yaml: there are no patterns", "docs/patterns.md"]),
    "audit scalse": (2, ["Did you mean scales?"]),
    "audit scales --check word": (2, ["'word'", "Did you mean words?"]),
    "audit scales --allow shortcuts": (2, ["'shortcuts'", "Choose one of"]),
    "audit a.csv --map txt=id": (2, ["'txt'", "Did you mean text?"]),
    "audit a.csv --map gold=anwser": (2, ["'anwser'", "Did you mean answer?"]),
    "audit empty.csv": (1, ["empty.csv: the file is empty", "first line"]),
    "report nowhere": (1, ["nowhere is not a run", "gnomon runs list"]),
    "report RUN -o photos": (2, ["photos is a folder", "photos/report.html"]),
    "view --port http": (2, ["--port takes a whole number, not 'http'"]),
    "view --port 99999999": (2, ["port 99999999", "0-65535.\n", "--port"]),
    "view --runs rnus": (2, ["no folder rnus", "Did you mean runs?"]),
    "view runs": (2, ["no place for 'runs'", "--runs runs"]),
    "train": (2, ["train needs RECIPE", "probe"]),
    "train prob -o t": (2, ["'prob'", "Did you mean probe?"]),
    "train probe --set modle=hf:x -o t": (1, ["'modle'", "Did you mean model?"]),
    "train recipee.yaml -o t": (1, ["recipee.yaml", "Did you mean recipe.yaml?"]),
    "train recipe.yaml -o t": (2, ["'clasify'", "Did you mean classify?"]),
    "train probe --curve 1,2": (2, ["no folder", "-o DIR"]),
    "train probe --curve a,b -o c": (2, ["'a,b'", "--curve 1,2,5"]),
    "train probe --only 1:1 -o c": (2, ["--only is for learning curves", "--curve"]),
    "prompts scales": (2, ["prompts needs -m MODEL", "gnomon prompts scales -m"]),
    "prompts scales -m smollm2": (2, ["several forms: choice, cloze", "--set form=choice"]),
    "people ask scales": (2, ["Nobody is named", "--people ann,ben"]),
    "people ask scales --people ann --task chose": (2, ["'chose'", "Did you mean choose?"]),
    "people ask scales --people 'ann ben'": (2, ["'ann ben'", "pseudonym"]),
    "people agree RUN": (2, ["No run of a person", "is one of random", "gnomon people ask"]),
    "people agree runs": (2, ["No run of a person", "gnomon compare"]),
    "people agree nowhere": (1, ["nowhere is not a run", "gnomon runs list"]),
    "people agree runs --rule majorty": (2, ["'majorty'", "Did you mean majority?"]),
    "run nowhere --judge-again": (
        1,
        ["nowhere is not a run: there is no such folder", "gnomon runs list"],
    ),
    "run photos --judge-again": (1, ["photos is not a run and holds none", "gnomon runs list"]),
    "run RUN --judge-again": (2, ["Nothing says how the new judge differs", "--set rule=visor"]),
    "run RUN --judge-again --set rule=visor": (1, ["has no pictures", "synth:NAME"]),
    "look photos": (2, ["look needs -o DIR", "gnomon look photos -o knowledge"]),
    "look phtos -o k": (1, ["phtos", "Did you mean photos?"]),
    "look photos -o k": (1, ["photos: the folder has neither", "COCO"]),
    "data": (2, ["data needs", "gnomon data list"]),
    "data gte vsr": (2, ["'gte'", "Did you mean get?"]),
    "data get vsrr": (2, ["'vsrr'", "Did you mean vsr?"]),
    "data get vsr --lmit 3": (2, ["no option --lmit", "Did you mean --limit?"]),
    "scene": (2, ["FILE, --say and --seed", "gnomon scene --say"]),
    "scene --seed 3 -o x.bmp": (2, ["'x.bmp'", ".png"]),
    "scene bad.json -o x.png": (1, ["bad.json: not JSON", "docs/scenes.md"]),
    "scene --say 'a cpu' -o x.png": (2, ["'cpu'", "Did you mean cup?"]),
    "prove 'The cup is in the box.'": (2, ["no place for 'The cup", "--say"]),
    "prove --say 'The cup is in the box.'": (2, ["--say needs 2 values", "HYPOTHESIS"]),
    "prove --say 'The cup is in the box.' 'Cats like fish.'": (1, ["'fish'", "docs/proofs.md"]),
    "runs merge RUN": (1, ["a whole run, not a shard", "--shard I/N"]),
    "runs merge nowhere": (1, ["nowhere is not a run", "gnomon runs list"]),
    "runs rm photos --yes": (1, ["photos is not a run", "Nothing was removed"]),
    "runs rm RUN --force": (2, ["no option --force", "Write --yes."]),
    "power scales --accuracy 90": (2, ["not 90", "0.9 is 90 %"]),
    "power scales -m randm": (2, ["'randm'", "Did you mean random?"]),
    "score THIRD --beliefs": (2, ["nothing in an order", "scales"]),
    "runs recover RUN": (2, ["recover needs -o FOLDER", "gnomon runs recover"]),
    "people froget bob": (2, ["'froget'", "Did you mean forget?"]),
    "people forget bob": (2, ["no answers of people in runs", "--runs"]),
    "list modls": (2, ["'modls'", "Did you mean models?"]),
    "list benchmarks scalse": (2, ["'scalse'", "Did you mean scales?"]),
    "list models hff": (2, ["'hff'", "Did you mean hf?"]),
    "runs list --runs rnus": (2, ["no folder rnus", "Did you mean runs?"]),
    "runs list --runs notes.txt": (2, ["notes.txt is a file", "--runs"]),
    "run scales -m random --set al=yes": (2, ["'al'", "--set all=VALUE"]),
    "look photos -o k --set detecter=ssd": (2, ["'detecter'", "Did you mean detector?"]),
    "help people aks": (2, ["'aks'", "Did you mean ask?"]),
    "list runs --runs photos": (2, ["is now `gnomon runs list`", "gnomon runs list --runs photos"]),
    "list models smollm2 hf": (2, ["no place for 'hf'", "It takes"]),
    "list benchmarks vsr@frehs": (2, ["vsr has no source 'frehs'", "fresh"]),
    "list measures acuracy": (2, ["no measure named 'acuracy'", "Did you mean accuracy?"]),
}
PROMPTS = {
    "list promts": (2, ["'promts'", "Did you mean prompts?"]),
    "list prompts plian": (2, ["no prompt named 'plian'", "Did you mean plain?"]),
    "list prompts --prompt plain": (2, ["no option --prompt", "gnomon list --help"]),
    "list prompts plain chat": (2, ["no place for 'chat'"]),
    "show scales --shots 3": (2, ["--shots is for a model", "-m MODEL"]),
    "show scales --prompt chat": (2, ["--prompt is for a model", "-m MODEL"]),
    "show scales --set chat=no": (2, ["does not take the option 'chat'", "gnomon list"]),
    "run chains -m smollm2 --set ask=pairs": (2, ["both take", "--set items.ask=pairs"]),
    "show scales --set shots_from=a.csv": (2, ["shots_from is for a model", "-m MODEL"]),
    "show scales -m ''": (2, ["no model named ''", "smollm2"]),
    "show ''": (2, ["no benchmark named ''", "scales"]),
    "show RUN": (2, ["no benchmark named 'runs/scales@", "a folder of answers: gnomon score"]),
    "show scales -m random": (2, ["random reads no prompt", "smollm2"]),
    "show scales -m smollm": (2, ["'smollm'", "Did you mean smollm2?"]),
    "show scales -m openai:x --prompt chatt": (2, ["'chatt'", "Did you mean chat?"]),
    "show scales -m openai:x --prompt notes.txt": (2, ["'notes.txt'", "ends in .yaml"]),
    "show scales --format": (2, ["--format needs a value", "--format table|"]),
    "show scales -m openai:x --set wording=99": (2, ["no wording 99", "Choose 1 to"]),
    "show scales -m openai:x --shots -1": (2, ["--shots must be 0 or more, not -1"]),
    "show scales -m openai:x --shots three": (2, ["shots must be int, not 'three'"]),
    "show scales -m openai:x --shots 2.5": (2, ["shots must be int, not '2.5'"]),
    "show scales -m openai:x --shots 9999": (2, ["No 9999 worked examples", "fewer"]),
    "show scales -m openai:x --set shots_from=a.csv": (2, ["does not say how many", "--shots N"]),
    "show scales -m openai:x --shots 1 --set shots_from=b.csv": (1, ["b.csv", "a.csv?"]),
    "show vsr -m openai:x --shots 1": (2, ["have pictures", "Leave out --shots"]),
    "show scales -m openai:x --format csv": (2, ["cannot be shown as csv", "json"]),
    "run scales -m random --set shots_from=a.csv": (2, ["takes worked examples", "shots_from"]),
    "run scales -m smollm2 --prompt no.yaml": (1, ["no.yaml: there is no such file"]),
}
EXPORTS = {
    "make": (2, ["make needs BENCHMARK", "-o FILE"]),
    "make scales --as lmeval -o x": (2, ["'lmeval'", "Did you mean lm-eval"]),
    "make scales --as lm-eval": (2, ["make needs -o FILE"]),
    "make scalse --as lm-eval -o x": (2, ["Did you mean scales?"]),
    "make scales spacenli --as inspect -o x": (2, ["no place for 'spacenli'", "BENCHMARK"]),
    "make scales --as inspect -o runs": (2, ["runs is there already", "new folder"]),
    "make scales --as lm-eval -o x --prompt chatt": (2, ["Did you mean chat?"]),
    "make scales --as dataset --set wording=2 -o x": (2, ["wording is for --as lm-eval"]),
    "make scales --shots 2 -o x.jsonl": (2, ["--shots is for --as lm-eval"]),
    "make scales --as dataset --shard 1/2 -o x": (2, ["--shard is for files of items"]),
    "make RUN --as dataset -o x": (2, ["a folder of answers", "gnomon score"]),
    "make scales --out x --as dataset": (2, ["no option --out", "Write --output."]),
}
# Commands and options of earlier versions: the answer is the command to type.
RENAMED = {
    "annotate scales --people ann": "gnomon people ask scales --people ann",
    "agree runs --rule majority": "gnomon people agree runs --rule majority",
    "merge runs -o whole": "gnomon runs merge runs -o whole",
    "rm RUN --yes": "gnomon runs rm RUN --yes",
    "recover RUN -o r": "gnomon runs recover RUN -o r",
    "check a.csv --map gold=answer": "gnomon audit a.csv --map gold=answer",
    "export scales --to lm-eval -o x": "gnomon make scales --as lm-eval -o x",
    "curve probe --sizes 1,2 -o c": "gnomon train probe --curve 1,2 -o c",
    "curve probe --percent=10,50 -o c": "gnomon train probe --curve 10,50% -o c",
    "judge RUN --rule visor --set least=1": (
        "gnomon run RUN --set rule=visor --set least=1 --judge-again"
    ),
    "beliefs RUN -o b.html": "gnomon score RUN -o b.html --beliefs",
    "run scales -m hf:x --dtype float16 --model-set top_k=1": (
        "gnomon run scales -m hf:x --set dtype=float16 --set top_k=1"
    ),
    "run scales -m hf:x --trust-remote-code": "gnomon run scales -m hf:x --set trust_remote_code=yes",
    "run chains -m smollm2 --ask generate": (
        "gnomon run chains -m smollm2 --set model.ask=generate"
    ),
    "people ask spacenli --per-group=3 --people ann": (
        "gnomon people ask spacenli --set per_group=3 --people ann"
    ),
}
# What someone new wrote who had the README alone.
NEWCOMERS = {
    "rn scales -m random": (2, ["Did you mean run or runs?"]),
    "run scales random": (2, ["run needs -m MODEL", "gnomon run scales -m random"]),
    "run my questions.csv -m random": (2, ["is one file", 'gnomon run "my questions.csv"']),
    "run mine.csv -m random": (1, ["there is no such file", "has: a.csv, empty.csv"]),
    "run scales -m openai/gpt-4o": (2, ["Write openai:gpt-4o."]),
    "run scales -m meta-llama/Llama-3": (2, ["Write hf:meta-llama/Llama-3", "openai:"]),
    "run scales -m ollama:llama3": (2, ["-m openai:NAME --base-url http://127.0.0.1:11434/v1"]),
    "run scales -m openai:m --api-key sk-1": (2, ["set OPENAI_API_KEY", "--set key_env=NAME"]),
    "run scales -m random --apply_chat_template": (2, ["Write --set chat=yes."]),
    "run scales -m random -q": (2, ["Write --quiet."]),
    "-v": (2, ["Write --version."]),
    "version": (2, ["`gnomon --version`"]),
    "run scales --models random": (2, ["no option --models", "Write --model."]),
    "models": (2, ["`gnomon list models`"]),
    "leaderboard runs": (2, ["`gnomon table`"]),
    "clean": (2, ["`gnomon runs rm`"]),
    "doctor --jsn": (2, ["no option --jsn", "`gnomon doctor --help`"]),
    "run posrel -m synth:gallery": (2, ["needs the option 'dir'", "--set dir=VALUE"]),
    "run posrel -m synth:gallery --dir x": (2, ["no option --dir", "Write --set dir=VALUE."]),
    "score a.csv": (1, ["gnomon score --answers a.csv --benchmark NAME"]),
    "score RUN --measure acc": (2, ["Did you mean accuracy?"]),
    "table RUN -o table.tex": (2, ["no option -o", "> FILE"]),
    "show spacenli 2": (2, ["no place for '2'", "Write -n 2."]),
    "data get vsr --to folder": (2, ["GNOMON_CACHE"]),
    "list scales": (2, ["Write: gnomon list benchmarks scales"]),
    "list random": (2, ["Write: gnomon list models random"]),
    "compare page.html page.html": (1, ["page.html is a page", "the runs that it is about"]),
    "view page.html": (2, ["open it in a browser"]),
    "compare RUN OTHER --by scale": (2, ["gnomon score RUN... --by scale"]),
    "score RUN --by scale,form": (2, ["--by scale --by form"]),
    "score RUN --measure accuracy,macro_f1": (2, ["--measure accuracy --measure macro_f1"]),
    "run scales -m random --shots three": (2, ["Leave out --shots."]),
    "run scales -m random --verbose": (2, ["leave it out"]),
    "run a.csv@fresh -m random": (2, ["write a.csv without what follows @"]),
    "runs list runs": (2, ["--runs runs"]),
    "show scales --limit 3": (2, ["Write -n."]),
    "audit scales --fix": (2, ["-o clean.jsonl"]),
    "demo -o notes.txt": (2, ["notes.txt is there"]),
    "benchmark scales": (2, ["`gnomon list benchmarks`"]),
}
MISTAKES = {
    **GENERAL,
    **NEWCOMERS,
    **RUN_COMMAND,
    **SUITES,
    **TABLES,
    **OTHERS,
    **PROMPTS,
    **EXPORTS,
}
FILES = {
    "empty.yaml": b"",
    "empty.jsonl": b"",
    "empty.csv": b"",
    "items.jsonl": b"{}\n",
    "tabs.yaml": b"patterns:\n\t- id: 1\n",
    "latin.yaml": "id: caf\xe9\n".encode("latin-1"),
    "windows.yaml": b"patterns:\r\n- id: x\r\n  nonsense: 1\r\n",
    "utf16.jsonl": '{"id": 1}'.encode("utf-16"),
    "notes.txt": b"hello\n",
    "my questions.csv": b"question,option1,option2,answer\nWhich?,a,b,a\n",
    "a.csv": b"id,answer\n1,yes\n",
    "split.csv": b"question,A,B,answer\nOn, or in?,on,in,on\n",
    "few.csv": b"question,A,B,answer\nWhich?,on,in\n",
    "rooms.csv": b"question,A,B,answer\nWhich?,on,in,on\n",
    "rooms.yaml": b"title: [x\nlimit: 3\n",
    "page.html": b"<html>mine</html>",
    "bad.json": b"{,}",
    "experiment.yaml": b"benchmark: [scales]\n",
    "recipe.yaml": b"kind: clasify\nmodel: hf:x\n",
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A folder with three runs, and with files as people have them."""
    folder = tmp_path_factory.mktemp("mistakes")
    runs = {}
    for word, benchmark, model in (
        ("RUN", "scales", "random"),
        ("OTHER", "scales", "majority"),
        ("THIRD", "spatialqa", "random"),
    ):
        run = gnomon.run(benchmark, model, limit=10, runs=str(folder / "runs"))
        runs[word] = f"runs/{run.path.name}"
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "photos").mkdir()
    (folder / "tiny-llama").mkdir()
    return folder, runs


@pytest.fixture(scope="module")
def options():
    """Every option of every command."""
    found = set()
    for name in COMMANDS:
        parser = command_parser(name, command(name))
        for each in (parser, *parser.commands.values()):
            found |= set(each.options)
    return found


def told(capsys, words):
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_answered_by_what_is_wrong_and_what_to_do(
    line, furnished, options, capsys, monkeypatch
):
    folder, runs = furnished
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GNOMON_CACHE", str(folder / "cache"))
    before = sorted(Path("runs").iterdir())
    words = [runs.get(word, word) for word in shlex.split(line)]
    expected, parts = MISTAKES[line]

    code, out, err = told(capsys, words)

    assert code == expected
    for part in parts:
        assert part in err
    if code == 0:
        return
    assert out == ""
    assert err.startswith("gnomon: ")
    assert "Traceback" not in err
    assert 2 <= len(err.splitlines()) <= 4, "what is wrong, and what to do"
    assert len(err) < 900
    said = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", err))
    assert said - {word.partition("=")[0] for word in words} <= options | {"--help", "--version"}
    for name in re.findall(r"`gnomon (\w+)", err):
        assert name in {*COMMANDS, "help"}
    assert sorted(Path("runs").iterdir()) == before, "a mistake leaves no run"


@pytest.mark.parametrize("line", RENAMED)
def test_an_old_name_answers_with_the_command_to_type(line, furnished, capsys, monkeypatch):
    folder, runs = furnished
    monkeypatch.chdir(folder)
    words = [runs.get(word, word) for word in shlex.split(line)]
    expected = [runs.get(word, word) for word in shlex.split(RENAMED[line])]

    code, out, err = told(capsys, words)

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"Write: {shlex.join(expected)}"
    parser = command_parser(expected[1], command(expected[1]))
    parser.parse_args(expected[2:])


def test_the_table_has_mistakes_of_every_command():
    commands = {line.split()[0] for line in MISTAKES}
    assert set(COMMANDS) <= commands
    assert len(MISTAKES) > 100


def test_names_may_follow_options(capsys):
    code, out, _ = told(capsys, ["list", "models", "--format", "json", "random"])
    assert code == 0
    assert '"model_seed"' in out
    words = ["run", "-m", "random", "scales", "--limit", "4", "spatialqa", "--quiet"]
    assert told(capsys, words)[0] == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_an_option_is_not_abbreviated(capsys):
    code, _, err = told(capsys, ["run", "scales", "-m", "random", "--lim", "4"])
    assert code == 2
    assert "Did you mean --limit?" in err


@pytest.mark.parametrize("words", ["run", "list", "runs merge"])
def test_what_scripts_of_before_wrote_for_json_still_works_and_is_not_shown(words):
    name, *action = words.split()
    parser = command_parser(name, command(name))
    for word in action:
        parser = parser.commands[word]
    assert "--json" not in parser.options
    assert "--json" not in parser.format_help()
    needed = {"run": ["scales", "-m", "random"], "list": [], "runs merge": ["a"]}[words]
    assert parser.parse_args([*needed, "--json"]).format == "json"
    assert parser.parse_args([*needed, "--format", "json"]).format == "json"
    assert parser.parse_args(needed).format == "table"


def test_without_runs_the_answer_says_where_they_could_be(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in (["score", "runs"], ["report", "runs"], ["view"]):
        _, _, err = told(capsys, words)
        assert "go to the folder where you ran" in err
        assert "gnomon run scales -m random" in err


def test_what_is_said_of_a_file_fits_its_items(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("question, A, B, answer\nWhich?, on, in, on\n")
    assert main(["run", "one.csv", "-m", "random", "--quiet"]) == 0
    err = capsys.readouterr().err
    assert "choices are A, B; gold, what is right, is answer (the text of a choice)" in err
    assert "1 item with two choices" in err

    Path("same.csv").write_text("question,A,B,answer\nWhich?,on,on,on\n")
    assert main(["run", "same.csv", "-m", "random"]) == 1
    err = capsys.readouterr().err
    assert "same.csv:2: choices must be two or more" in err
    assert "0 items" not in err


def test_items_without_tags_are_said_to_have_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("question,A,B,answer\nWhich?,on,in,on\n")
    assert main(["run", "one.csv", "scales", "-m", "random", "--limit", "5", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["score", "runs", "--by", "colour"]) == 2
    assert "items@one.csv has no tags" in capsys.readouterr().err


def test_a_page_of_gnomon_is_replaced_by_another(furnished, monkeypatch, capsys):
    folder, runs = furnished
    monkeypatch.chdir(folder)
    for words in (["report", runs["RUN"]], ["score", runs["RUN"], "--beliefs"]):
        for _ in range(2):
            assert main([*words, "-o", "written.html"]) == 0
    Path("written.html").unlink()


def test_the_columns_of_the_doctor_stand_apart(tmp_path, monkeypatch, capsys):
    (tmp_path / "pictures-of-ones-own").mkdir()
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    assert main(["doctor"]) == 0
    assert "pictures-of-ones-own  0.0 MB" in capsys.readouterr().out


def test_what_brings_torch_says_that_it_is_large():
    assert "CPU build" in str(MissingExtraError("This", "hf"))
    assert "CPU build" not in str(MissingExtraError("This", "report"))
