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

/* Sets the options of a sequence of regions and a PictureSpec; both may be None. `options->regions` is to be freed with
 * PyMem_Free. False: an exception is set. */
bool parse_options(PyObject *regions, PyObject *spec, struct rfb_decoder_options *options);

PyObject *make_decoder_type(PyObject *module);
PyObject *make_connection_type(PyObject *module);
PyObject *make_frame_bytes_type(PyObject *module);

#endif
