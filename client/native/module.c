/* pluriverse.rfb._native: the decoder, and the connections that own their sockets. See _native.pyi. */
#include "py_native.h"

#include <stdio.h>

#include <jpeglib.h>
#include <zlib.h>

#include "rfb_limits.h"

struct names names;

PyObject *make_error(enum rfb_error error, const char *message) {
    static const char *const classes[] = {
        [RFB_UNKNOWN_MESSAGE] = "UnknownMessage",   [RFB_UNKNOWN_ENCODING] = "UnknownEncoding",
        [RFB_BAD_GEOMETRY] = "BadGeometry",         [RFB_LIMIT_EXCEEDED] = "LimitExceeded",
        [RFB_BAD_DATA] = "BadData",
    };
    if (error == RFB_OUT_OF_MEMORY) return PyObject_CallFunction(PyExc_MemoryError, "s", message);
    return PyObject_CallMethod(names.errors, classes[error], "s", message);
}

PyObject *raise_error(enum rfb_error error, const char *message) {
    PyObject *exception = make_error(error, message);
    if (!exception) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

static bool parse_region(PyObject *item, struct rfb_region *region) {
    PyObject *tuple = PySequence_Tuple(item);
    if (!tuple) return false;
    bool parsed = PyArg_ParseTuple(tuple, "iiii;a region is x, y, width, height", &region->x, &region->y,
                                   &region->width, &region->height);
    Py_DECREF(tuple);
    if (!parsed) return false;
    /* RFB has 16 bits for each; the sums of two must not overflow. */
    if (region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1 || region->x > 65535 ||
        region->y > 65535 || region->width > 65535 || region->height > 65535) {
        PyErr_Format(PyExc_ValueError, "a region of %dx%d at (%d, %d) lies on no screen", region->width,
                     region->height, region->x, region->y);
        return false;
    }
    return true;
}

bool parse_regions(PyObject *sequence, struct rfb_region **regions, Py_ssize_t *count) {
    *regions = NULL;
    *count = 0;
    if (sequence == Py_None) return true;
    PyObject *items = PySequence_List(sequence);
    if (!items) return false;
    Py_ssize_t size = PyList_Size(items);
    *regions = PyMem_Calloc((size_t)size + 1, sizeof **regions);
    bool fine = *regions != NULL;
    if (!fine) PyErr_NoMemory();
    for (Py_ssize_t i = 0; fine && i < size; i++) fine = parse_region(PyList_GetItem(items, i), *regions + i);
    Py_DECREF(items);
    if (!fine) {
        PyMem_Free(*regions);
        *regions = NULL;
        return false;
    }
    *count = size;
    return true;
}

static PyObject *limits(void) {
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i}", "MAX_SIDE", RFB_MAX_SIDE, "MAX_PIXELS", RFB_MAX_PIXELS,
                         "MAX_CLIPBOARD_BYTES", RFB_MAX_CLIPBOARD_BYTES, "MAX_CURSOR_SIDE", RFB_MAX_CURSOR_SIDE,
                         "MAX_FENCE_BYTES", RFB_MAX_FENCE_BYTES, "MAX_ZRLE_BYTES", RFB_MAX_ZRLE_BYTES);
}

#define TEXT(name) #name
#define TEXT_OF(macro) TEXT(macro)

static PyObject *libraries(void) {
    char text[80];
    snprintf(text, sizeof text, "libjpeg-turbo %s, zlib %s", TEXT_OF(LIBJPEG_TURBO_VERSION), zlibVersion());
    return PyUnicode_FromString(text);
}

static bool add(PyObject *module, const char *name, PyObject *value) {
    bool added = value && PyModule_AddObjectRef(module, name, value) == 0;
    Py_XDECREF(value);
    return added;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pluriverse.rfb._native",
    .m_doc = "The native decoder of RFB, and connections that decode on threads of their own.",
    .m_size = -1,
};

static bool import_names(void) {
    names.numpy = PyImport_ImportModule("numpy");
    names.events = PyImport_ImportModule("pluriverse.rfb.events");
    names.errors = PyImport_ImportModule("pluriverse.rfb.errors");
    return names.numpy && names.events && names.errors;
}

PyMODINIT_FUNC PyInit__native(void) {
    if (!import_names()) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (add(module, "NativeDecoder", make_decoder_type(module)) &&
        add(module, "NativeConnection", make_connection_type(module)) && make_frame_bytes_type(module) &&
        add(module, "LIMITS", limits()) && add(module, "LIBRARIES", libraries())) {
        return module;
    }
    Py_DECREF(module);
    return NULL;
}
