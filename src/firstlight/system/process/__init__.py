"""Process: run short commands, supervise long ones, and end both with all processes that they started.

The guard process loads only `keeper` and its imports, which are modules of this folder and of the standard library.
`guard` and `bounded` are firstlight's side: they import more.
"""
