"""Attacks on Gnomon, to see whether docs/reliability.md promises too much.

    make hostile                         all attacks, less than half an hour on two cores
    python -m hostile --short            some of each, less than a minute (part of make test)
    python -m hostile.trying --only vsr  one attack by itself; each module says what it takes

| module    | what it does                                                              |
| --------- | ------------------------------------------------------------------------- |
| kills     | kills every command that writes at every call that changes a file         |
| trying    | gives damaged files to every reader of files                              |
| native    | gives damaged model files to llama.cpp                                    |
| strangers | makes files that try to run code, to fetch secrets, to write elsewhere    |
| encodings | prints what cannot be printed, and names files by bytes that are no text  |
| weights   | changes single tensors of a model in place                                |
| crowds    | holds hundreds of half-open connections to a page                         |
| servers   | misbehaves as a server of models, of files, and as Label Studio           |
| workers   | kills workers, a machine, the driver and the cluster of a run on Ray      |

The last one takes half an hour and the extra `ray`, and is started by hand:
`python -m hostile.workers`. `scenarios` says what is killed and what must hold; `misbehaving` is the server. `published` and
`samples` hold small valid files, `mutating` damages them, `readers` lists who reads them, `commands`
every command; `tally` counts what was found. The package is no part of the wheel and holds no tests: tests/hostile runs
the short form, and plants faults to see that each kind is found.
"""
