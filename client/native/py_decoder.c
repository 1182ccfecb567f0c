/* NativeDecoder: the C decoder with the interface of pluriverse.rfb.decoder.Decoder. */
#include <stddef.h>
#include <string.h>

#include "py_native.h"

typedef struct {
    PyObject_HEAD
    struct rfb_decoder *decoder;
    PyObject *framebuffer; /* the array; `view` keeps its memory in place */
    Py_buffer view;
    PyObject *events;      /* of the call under way */
    PyThreadState *thread; /* whose GIL is released while it decodes, or NULL */
} DecoderObject;

/* -- The framebuffer ----------------------------------------------------------------------------------------------- */

static bool new_framebuffer(DecoderObject *self, int width, int height) {
    PyObject *array = PyObject_CallMethod(names.numpy, "zeros", "((iii)s)", height, width, 3, "uint8");
    if (!array) return false;
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
        Py_DECREF(array);
        return false;
    }
    if (self->framebuffer) PyBuffer_Release(&self->view);
    Py_XDECREF(self->framebuffer);
    self->framebuffer = array;
    self->view = view;
    return true;
}

static uint8_t *on_resize(void *context, int width, int height) {
    DecoderObject *self = context;
    PyEval_RestoreThread(self->thread);
    bool done = new_framebuffer(self, width, height);
    /* It is told as being out of memory, which is all that it can be. */
    if (!done) PyErr_Clear();
    self->thread = PyEval_SaveThread();
    return done ? self->view.buf : NULL;
}

/* -- Events -------------------------------------------------------------------------------------------------------- */

static PyObject *call(const char *name, const char *format, ...) {
    PyObject *class = PyObject_GetAttrString(names.events, name);
    if (!class) return NULL;
    va_list arguments;
    va_start(arguments, format);
    PyObject *tuple = Py_VaBuildValue(format, arguments);
    va_end(arguments);
    PyObject *made = tuple ? PyObject_CallObject(class, tuple) : NULL;
    Py_XDECREF(tuple);
    Py_DECREF(class);
    return made;
}

static void put_rgba(uint8_t *out, const struct rfb_event *event) {
    size_t width = (size_t)event->width, height = (size_t)event->height, mask_row = (width + 7) / 8;
    const uint8_t *bgrx = event->data, *mask = event->data + width * height * 4;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++, out += 4, bgrx += 4) {
            out[0] = bgrx[2];
            out[1] = bgrx[1];
            out[2] = bgrx[0];
            out[3] = mask[y * mask_row + x / 8] & 0x80 >> x % 8 ? 255 : 0;
        }
    }
}

static PyObject *cursor_shape(const struct rfb_event *event) {
    PyObject *array = PyObject_CallMethod(names.numpy, "empty", "((iii)s)", event->height, event->width, 4, "uint8");
    if (!array) return NULL;
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
        Py_DECREF(array);
        return NULL;
    }
    put_rgba(view.buf, event);
    PyBuffer_Release(&view);
    PyObject *made = call("CursorShape", "(iiO)", event->x, event->y, array);
    Py_DECREF(array);
    return made;
}

static PyObject *make_event(const struct rfb_event *event) {
    const char *data = (const char *)event->data;
    Py_ssize_t size = (Py_ssize_t)event->size;
    switch (event->kind) {
        case RFB_UPDATE_FINISHED:
            return call("UpdateFinished", "(iK)", event->rectangles, (unsigned long long)event->pixels);
        case RFB_RESIZED: return call("Resized", "(ii)", event->width, event->height);
        case RFB_BELL: return call("Bell", "()");
        case RFB_CLIPBOARD: return call("ClipboardText", "(N)", PyUnicode_DecodeLatin1(data, size, NULL));
        case RFB_FENCE: return call("Fence", "(IN)", (unsigned)event->flags, PyBytes_FromStringAndSize(data, size));
        case RFB_END_OF_CONTINUOUS_UPDATES: return call("EndOfContinuousUpdates", "()");
        case RFB_CURSOR: return cursor_shape(event);
    }
    return NULL;
}

static bool on_event(void *context, const struct rfb_event *event) {
    DecoderObject *self = context;
    PyEval_RestoreThread(self->thread);
    PyObject *made = make_event(event);
    bool kept = made && PyList_Append(self->events, made) == 0;
    Py_XDECREF(made);
    if (!kept) PyErr_Clear();
    self->thread = PyEval_SaveThread();
    return kept;
}

/* -- The type ------------------------------------------------------------------------------------------------------ */

static bool make_decoder(DecoderObject *self, int width, int height, PyObject *regions, PyObject *spec) {
    const char *fault = rfb_screen_fault(width, height);
    if (fault) {
        char message[120];
        PyOS_snprintf(message, sizeof message, "a screen of %dx%d: %s", width, height, fault);
        raise_error(RFB_LIMIT_EXCEEDED, message);
        return false;
    }
    struct rfb_decoder_options options;
    if (!new_framebuffer(self, width, height) || !parse_options(regions, spec, &options)) return false;
    const struct rfb_owner owner = {.context = self, .resize = on_resize, .event = on_event};
    self->decoder = rfb_decoder_new(width, height, self->view.buf, &options, &owner);
    PyMem_Free((void *)options.regions);
    if (!self->decoder) PyErr_NoMemory();
    return self->decoder != NULL;
}

static PyObject *decoder_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *known[] = {"width", "height", "regions", "spec", NULL};
    int width, height;
    PyObject *regions = Py_None, *spec = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "ii|$OO:NativeDecoder", known, &width, &height, &regions,
                                     &spec)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    DecoderObject *self = (DecoderObject *)allocate(type, 0);
    if (self && !make_decoder(self, width, height, regions, spec)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void decoder_dealloc(PyObject *object) {
    DecoderObject *self = (DecoderObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    rfb_decoder_free(self->decoder);
    if (self->framebuffer) PyBuffer_Release(&self->view);
    Py_XDECREF(self->framebuffer);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *decoder_feed(PyObject *object, PyObject *arguments) {
    DecoderObject *self = (DecoderObject *)object;
    Py_buffer data;
    if (!PyArg_ParseTuple(arguments, "y*:feed", &data)) return NULL;
    if (self->events) {
        PyBuffer_Release(&data);
        PyErr_SetString(PyExc_RuntimeError, "another thread is feeding this decoder");
        return NULL;
    }
    self->events = PyList_New(0);
    if (!self->events) {
        PyBuffer_Release(&data);
        return NULL;
    }
    self->thread = PyEval_SaveThread();
    enum rfb_error error = rfb_decoder_feed(self->decoder, data.buf, (size_t)data.len);
    PyEval_RestoreThread(self->thread);
    self->thread = NULL;
    PyBuffer_Release(&data);
    PyObject *events = self->events;
    self->events = NULL;
    if (!error) return events;
    Py_DECREF(events);
    return raise_error(error, rfb_decoder_message(self->decoder));
}

static PyObject *get_width(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(rfb_decoder_width(((DecoderObject *)self)->decoder));
}

static PyObject *get_height(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(rfb_decoder_height(((DecoderObject *)self)->decoder));
}

static PyObject *get_updates(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(rfb_decoder_updates(((DecoderObject *)self)->decoder));
}

static PyObject *get_pixels(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(rfb_decoder_pixels(((DecoderObject *)self)->decoder));
}

static PyObject *get_in_update(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(rfb_decoder_mid_message(((DecoderObject *)self)->decoder));
}

static PyObject *get_extended_buttons(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(rfb_decoder_extended_buttons(((DecoderObject *)self)->decoder));
}

static PyObject *get_framebuffer(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((DecoderObject *)self)->framebuffer);
}

static PyObject *get_picture(PyObject *self, void *unused) {
    (void)unused;
    const struct rfb_picture *picture = rfb_decoder_picture(((DecoderObject *)self)->decoder);
    PyObject *array = PyObject_CallMethod(names.numpy, "empty", "((iii)s)", picture->height, picture->width,
                                          picture->channels, "uint8");
    Py_buffer view;
    if (!array || PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    size_t row_bytes = (size_t)picture->width * (size_t)picture->channels;
    for (size_t y = 0; y < (size_t)picture->height; y++) {
        memcpy((uint8_t *)view.buf + y * row_bytes, picture->pixels + y * picture->stride, row_bytes);
    }
    PyBuffer_Release(&view);
    return array;
}

static PyObject *get_block(PyObject *self, void *unused) {
    (void)unused;
    const struct rfb_picture *picture = rfb_decoder_picture(((DecoderObject *)self)->decoder);
    const struct rfb_region *block = &picture->wanted.block;
    if (block->width == 0) Py_RETURN_NONE;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)block->width * block->height * RGB_BYTES);
    if (bytes) rfb_picture_block(picture, (uint8_t *)PyBytes_AsString(bytes));
    return bytes;
}

static PyGetSetDef properties[] = {
    {"width", get_width, NULL, "The desktop's, in pixels.", NULL},
    {"height", get_height, NULL, "The desktop's, in pixels.", NULL},
    {"framebuffer", get_framebuffer, NULL, "RGB, shape (height, width, 3).", NULL},
    {"picture", get_picture, NULL, "What is made of it, as wanted; a copy.", NULL},
    {"block", get_block, NULL, "The pixels of the block, RGB, or None.", NULL},
    {"updates", get_updates, NULL, "Framebuffer updates that were completed so far.", NULL},
    {"pixels", get_pixels, NULL, "Pixels of all picture rectangles that were completed so far.", NULL},
    {"in_update", get_in_update, NULL, "Whether the server owes the rest of a message.", NULL},
    {"extended_buttons", get_extended_buttons, NULL, "Whether the server takes nine buttons.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"feed", decoder_feed, METH_VARARGS, "Take in the next bytes of the stream; returns what happened."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, decoder_new},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, "pluriverse.rfb.decoder.Decoder in C; feed() releases the GIL."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pluriverse.rfb._native.NativeDecoder",
    .basicsize = sizeof(DecoderObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

PyObject *make_decoder_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
