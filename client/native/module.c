/* pluriverse.rfb._native: the decoder, and the connections that own their sockets. See _native.pyi. */
#include "py_native.h"

#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <zlib.h>

#include "rfb_limits.h"

/* Frames of less than a dozen pixels are of no use. */
#define MAX_SCALE 64

struct names names;

PyObject *make_error(enum rfb_error error, const char *message) {
    static const char *const classes[] = {
        [RFB_UNKNOWN_MESSAGE] = "UnknownMessage",   [RFB_UNKNOWN_ENCODING] = "UnknownEncoding",
        [RFB_BAD_GEOMETRY] = "BadGeometry",         [RFB_LIMIT_EXCEEDED] = "LimitExceeded",
        [RFB_BAD_DATA] = "BadData",                 [RFB_BAD_WEB_SOCKET] = "BadWebSocket",
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

/* For PyArg_ParseTuple: (x, y, width, height), or None, which leaves the region as it is. */
static int convert_region(PyObject *item, void *out) {
    struct rfb_region *region = out;
    if (item == Py_None) return true;
    PyObject *tuple = PySequence_Tuple(item);
    if (!tuple) return false;
    bool parsed = PyArg_ParseTuple(tuple, "iiii;a region is x, y, width, height", &region->x, &region->y,
                                   &region->width, &region->height);
    Py_DECREF(tuple);
    if (!parsed) return false;
    /* The sums of two must not overflow. */
    if (region->x < 0 || region->y < 0 || region->x > RFB_MAX_SIDE || region->y > RFB_MAX_SIDE ||
        rfb_screen_fault(region->width, region->height)) {
        PyErr_Format(PyExc_ValueError, "a region of %dx%d at (%d, %d) lies on no screen", region->width,
                     region->height, region->x, region->y);
        return false;
    }
    return true;
}

/* The same of (height, width), which becomes the size of a region. */
static int convert_size(PyObject *item, void *out) {
    struct rfb_region *size = out;
    if (item == Py_None) return true;
    PyObject *tuple = PySequence_Tuple(item);
    bool parsed = tuple && PyArg_ParseTuple(tuple, "ii;a size is height, width", &size->height, &size->width);
    Py_XDECREF(tuple);
    const char *fault = parsed ? rfb_screen_fault(size->width, size->height) : NULL;
    if (fault) PyErr_Format(PyExc_ValueError, "a picture of %dx%d: %s", size->width, size->height, fault);
    return parsed && !fault;
}

static bool parse_spec(PyObject *spec, struct rfb_picture_options *picture) {
    struct rfb_region size = {0, 0, 0, 0};
    int grey = 0;
    picture->scale = 1;
    if (spec == Py_None) return true;
    PyObject *tuple = PySequence_Tuple(spec);
    bool parsed = tuple && PyArg_ParseTuple(tuple, "O&O&ipO&;a picture is crop, size, scale, grey, block",
                                            convert_region, &picture->crop, convert_size, &size, &picture->scale,
                                            &grey, convert_region, &picture->block);
    Py_XDECREF(tuple);
    if (!parsed) return false;
    picture->width = size.width;
    picture->height = size.height;
    picture->grey = grey;
    if (picture->scale >= 1 && picture->scale <= MAX_SCALE) return true;
    PyErr_Format(PyExc_ValueError, "scale is %d, expected 1 to %d", picture->scale, MAX_SCALE);
    return false;
}

static bool parse_regions(PyObject *items, struct rfb_region *regions, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(items, i);
        if (item == Py_None) PyErr_SetString(PyExc_TypeError, "a region is x, y, width, height, not None");
        if (item == Py_None || !convert_region(item, &regions[i])) return false;
    }
    return true;
}

bool parse_options(PyObject *regions, PyObject *spec, struct rfb_decoder_options *options) {
    memset(options, 0, sizeof *options);
    if (!parse_spec(spec, &options->picture)) return false;
    if (regions == Py_None) return true;
    PyObject *items = PySequence_List(regions);
    if (!items) return false;
    Py_ssize_t count = PyList_Size(items);
    struct rfb_region *parsed = PyMem_Calloc((size_t)count + 1, sizeof *parsed);
    if (!parsed) PyErr_NoMemory();
    bool fine = parsed && parse_regions(items, parsed, count);
    Py_DECREF(items);
    if (fine) {
        options->regions = parsed;
        options->region_count = (size_t)count;
    } else {
        PyMem_Free(parsed);
    }
    return fine;
}

/* make_picture(screen, height, width, spec) -> bytes; the screen is RGB, without gaps. */
static PyObject *make_picture(PyObject *Py_UNUSED(module), PyObject *args) {
    struct rfb_picture picture = {0};
    struct rfb_decoder_options options;
    PyObject *screen, *spec, *made = NULL;
    int height, width;
    if (!PyArg_ParseTuple(args, "OiiO", &screen, &height, &width, &spec)) return NULL;
    const char *fault = rfb_screen_fault(width, height);
    if (fault) return PyErr_Format(PyExc_ValueError, "a screen of %dx%d: %s", width, height, fault);
    if (!parse_options(Py_None, spec, &options)) return NULL;
    Py_buffer buffer;
    if (PyObject_GetBuffer(screen, &buffer, PyBUF_SIMPLE) != 0) return NULL;
    picture.wanted = options.picture;
    if (buffer.len != (Py_ssize_t)width * height * RGB_BYTES) {
        PyErr_Format(PyExc_ValueError, "a screen of %dx%d in %zd bytes", width, height, buffer.len);
    } else if (!rfb_picture_resize(&picture, buffer.buf, width, height)) {
        PyErr_NoMemory();
    } else if ((made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)picture.width * picture.height * picture.channels))) {
        rfb_picture_update(&picture, (struct rfb_region){0, 0, width, height}, false);
        rfb_picture_copy(&picture, (uint8_t *)PyBytes_AsString(made));
    }
    rfb_picture_end(&picture);
    PyBuffer_Release(&buffer);
    return made;
}

static PyMethodDef functions[] = {
    {"make_picture", make_picture, METH_VARARGS, "The bytes of what a PictureSpec asks of a screen."},
    {NULL, NULL, 0, NULL},
};

static PyObject *limits(void) {
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i}", "MAX_SIDE", RFB_MAX_SIDE, "MAX_PIXELS", RFB_MAX_PIXELS,
                         "MAX_CLIPBOARD_BYTES", RFB_MAX_CLIPBOARD_BYTES, "MAX_CURSOR_SIDE", RFB_MAX_CURSOR_SIDE,
                         "MAX_FENCE_BYTES", RFB_MAX_FENCE_BYTES);
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
    .m_methods = functions,
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
