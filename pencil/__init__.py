"""Long thoughts in a short context: `C [CALL] T [SEP] A [RETURN]  =>  C A`."""

__version__ = "0.1.0"
