# Lines of a text as strings of C.
s/[\\"]/\\&/g
s/.*/"&\\n",/
