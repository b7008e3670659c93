"""What the package raises."""


class Error(ValueError):
    """What was asked for cannot be done; the sentence says why, and what is allowed.

    >>> import cgpo
    >>> try:
    ...     cgpo.train("cheetah")
    ... except cgpo.Error as error:
    ...     print(str(error)[:22])
    unknown task 'cheetah'
    """


Error.__module__ = "cgpo"
