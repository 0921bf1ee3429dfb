"""Any number of rows in bounded memory, in order or by their ids."""
