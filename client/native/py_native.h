/* What the files of the Python module share. It keeps to the limited API, so that one wheel serves all versions. */
#ifndef PLURIVERSE_PY_NATIVE_H
#define PLURIVERSE_PY_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "rfb_decoder.h"

/* Owned by the module's dictionary of types; borrowed here for as long as the process lives. */
struct names {
    PyObject *numpy;
    PyObject *events;
    PyObject *errors;
};

extern struct names names;

/* Python's exception for a decoder's error, made but not raised. New reference. */
PyObject *make_error(enum rfb_error error, const char *message);
/* Makes it, and raises it. Returns NULL. */
PyObject *raise_error(enum rfb_error error, const char *message);

/* The regions of a sequence of (x, y, width, height), or of None: no regions. `regions` is to be freed with
 * PyMem_Free. False: an exception is set. */
bool parse_regions(PyObject *sequence, struct rfb_region **regions, Py_ssize_t *count);

PyObject *make_decoder_type(PyObject *module);
PyObject *make_connection_type(PyObject *module);
PyObject *make_frame_bytes_type(PyObject *module);

#endif
