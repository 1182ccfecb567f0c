/* NativeConnection: a connection of the pool, and its frames as arrays. */
#include <errno.h>

#include "connection.h"
#include "py_native.h"

/* -- The memory of a frame ----------------------------------------------------------------------------------------- */

/* What an array of a frame stands on: keeps the frame for as long as anybody has the array. */
typedef struct {
    PyObject_HEAD
    struct frame *frame;
    Py_ssize_t shape[3], strides[3];
} FrameBytesObject;

static PyTypeObject *frame_bytes_type;

static int get_frame_buffer(PyObject *object, Py_buffer *view, int flags) {
    (void)flags; /* read-only, C-contiguous bytes fit every wish but that to write */
    FrameBytesObject *self = (FrameBytesObject *)object;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "frames are read-only: the next one is built on them");
        view->obj = NULL;
        return -1;
    }
    struct frame *frame = self->frame;
    view->obj = Py_NewRef(object);
    view->buf = frame->bytes;
    view->len = (Py_ssize_t)frame_picture_bytes(frame);
    view->readonly = 1;
    view->itemsize = 1;
    view->format = "B";
    view->ndim = 3;
    view->shape = self->shape;
    view->strides = self->strides;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void frame_bytes_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    frame_drop(((FrameBytesObject *)object)->frame);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyType_Slot frame_bytes_slots[] = {
    {Py_tp_dealloc, frame_bytes_dealloc},
    {Py_bf_getbuffer, get_frame_buffer},
    {Py_tp_doc, "The bytes of one frame."},
    {0, NULL},
};

static PyType_Spec frame_bytes_spec = {
    .name = "pluriverse.rfb._native._FrameBytes",
    .basicsize = sizeof(FrameBytesObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = frame_bytes_slots,
};

PyObject *make_frame_bytes_type(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &frame_bytes_spec, NULL);
    frame_bytes_type = (PyTypeObject *)type;
    return type;
}

/* Takes over the reference to the frame. */
static PyObject *new_array(struct frame *frame) {
    FrameBytesObject *bytes = (FrameBytesObject *)PyType_GenericAlloc(frame_bytes_type, 0);
    if (!bytes) {
        frame_drop(frame);
        return NULL;
    }
    bytes->frame = frame;
    bytes->shape[0] = frame->height;
    bytes->shape[1] = frame->width;
    bytes->shape[2] = frame->channels;
    bytes->strides[0] = (Py_ssize_t)frame->width * frame->channels;
    bytes->strides[1] = frame->channels;
    bytes->strides[2] = 1;
    PyObject *array = PyObject_CallMethod(names.numpy, "asarray", "(O)", bytes);
    Py_DECREF(bytes);
    return array;
}

static PyObject *frame_tuple(struct frame *frame) {
    unsigned long long updates = frame->updates, pixels = frame->pixels;
    double at = frame->at;
    const char *block = frame->block_bytes ? (const char *)frame->bytes + frame_picture_bytes(frame) : NULL;
    /* "y#" would mean something else to Python 3.11 and 3.12 where 3.13 and later built this. */
    PyObject *copied = block ? PyBytes_FromStringAndSize(block, (Py_ssize_t)frame->block_bytes) : Py_NewRef(Py_None);
    PyObject *array = new_array(frame);
    return Py_BuildValue("(NNKKd)", array, copied, updates, pixels, at);
}

/* -- The connection ------------------------------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    struct connection *connection;
    bool closed;
    PyObject *latest; /* the tuple of the frame that was taken last, or NULL */
} ConnectionObject;

static PyObject *open_connection(ConnectionObject *self, int fd, struct connection_options *options) {
    struct connection *connection;
    Py_BEGIN_ALLOW_THREADS
    connection = connection_open(fd, options);
    Py_END_ALLOW_THREADS
    if (!connection) return PyErr_SetFromErrno(PyExc_OSError);
    self->connection = connection;
    return (PyObject *)self;
}

static bool check(const struct connection_options *options) {
    const char *fault = rfb_screen_fault(options->width, options->height);
    if (fault) {
        raise_error(RFB_LIMIT_EXCEEDED, fault);
    } else if (!(options->silence_s > 0)) {
        PyErr_SetString(PyExc_ValueError, "silence_s must be more than 0 seconds");
    } else {
        return true;
    }
    return false;
}

static PyObject *connection_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *known[] = {"fd",        "width",    "height", "continuous", "regions", "spec",
                            "silence_s", "leftover", "waker",  "web_left", NULL};
    struct connection_options options = {.silence_s = 10, .waker = -1, .web_left = -1};
    PyObject *regions = Py_None, *spec = Py_None;
    int fd, continuous = 1;
    long long web_left = -1;
    Py_buffer leftover = {0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "iii|$pOOdy*iL:NativeConnection", known, &fd, &options.width,
                                     &options.height, &continuous, &regions, &spec, &options.silence_s, &leftover,
                                     &options.waker, &web_left)) {
        return NULL;
    }
    options.continuous = continuous;
    options.web_left = web_left;
    options.leftover = leftover.buf;
    options.leftover_size = (size_t)leftover.len;
    PyObject *opened = NULL;
    ConnectionObject *self = NULL;
    if (check(&options) && parse_options(regions, spec, &options.decoder)) {
        self = (ConnectionObject *)PyType_GenericAlloc(type, 0);
        if (self) opened = open_connection(self, fd, &options);
    }
    if (!opened) Py_XDECREF((PyObject *)self);
    PyMem_Free((void *)options.decoder.regions);
    if (leftover.obj) PyBuffer_Release(&leftover);
    return opened;
}

static void close_connection(ConnectionObject *self) {
    if (self->closed || !self->connection) return;
    self->closed = true;
    Py_BEGIN_ALLOW_THREADS
    connection_close(self->connection);
    Py_END_ALLOW_THREADS
}

static void connection_dealloc(PyObject *object) {
    ConnectionObject *self = (ConnectionObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    close_connection(self);
    if (self->connection) connection_free(self->connection);
    Py_XDECREF(self->latest);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *connection_close_method(PyObject *object, PyObject *unused) {
    (void)unused;
    close_connection((ConnectionObject *)object);
    Py_RETURN_NONE;
}

static PyObject *connection_frame(PyObject *object, PyObject *unused) {
    (void)unused;
    ConnectionObject *self = (ConnectionObject *)object;
    if (connection_is_fresh(self->connection)) {
        struct connection *connection = self->connection;
        struct frame *frame;
        Py_BEGIN_ALLOW_THREADS
        frame = connection_take(connection);
        Py_END_ALLOW_THREADS
        if (frame) {
            PyObject *tuple = frame_tuple(frame);
            if (!tuple) return NULL;
            Py_XDECREF(self->latest);
            self->latest = tuple;
        }
    }
    return Py_NewRef(self->latest ? self->latest : Py_None);
}

static PyObject *connection_send_method(PyObject *object, PyObject *arguments) {
    ConnectionObject *self = (ConnectionObject *)object;
    Py_buffer data;
    if (!PyArg_ParseTuple(arguments, "y*:send", &data)) return NULL;
    bool sent = false;
    if (!self->closed) {
        Py_BEGIN_ALLOW_THREADS
        sent = connection_send(self->connection, data.buf, (size_t)data.len);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&data);
    return PyBool_FromLong(sent);
}

/* No exception class here fits what the pool can see of a network. */
static PyObject *failure_of(const struct connection_state *state) {
    switch (state->failure) {
        case CONNECTION_FINE: Py_RETURN_NONE;
        case CONNECTION_INVALID: return make_error(state->error, state->message);
        case CONNECTION_LOST: return PyObject_CallFunction(PyExc_ConnectionError, "s", state->message);
        case CONNECTION_SILENT:
        case CONNECTION_STALLED: return PyObject_CallFunction(PyExc_TimeoutError, "s", state->message);
    }
    Py_RETURN_NONE;
}

static void get_state(PyObject *self, struct connection_state *state) {
    struct connection *connection = ((ConnectionObject *)self)->connection;
    Py_BEGIN_ALLOW_THREADS
    connection_state(connection, state);
    Py_END_ALLOW_THREADS
}

static PyObject *get_error(PyObject *self, void *unused) {
    (void)unused;
    /* Most are fine, and those who wait look often. */
    if (connection_is_alive(((ConnectionObject *)self)->connection)) Py_RETURN_NONE;
    struct connection_state state;
    get_state(self, &state);
    return failure_of(&state);
}

static PyObject *get_width(PyObject *self, void *unused) {
    (void)unused;
    struct connection_state state;
    get_state(self, &state);
    return PyLong_FromLong(state.width);
}

static PyObject *get_height(PyObject *self, void *unused) {
    (void)unused;
    struct connection_state state;
    get_state(self, &state);
    return PyLong_FromLong(state.height);
}

static PyObject *get_extended_buttons(PyObject *self, void *unused) {
    (void)unused;
    struct connection_state state;
    get_state(self, &state);
    return PyBool_FromLong(state.extended_buttons);
}

static PyObject *get_fresh(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(connection_is_fresh(((ConnectionObject *)self)->connection));
}

static PyGetSetDef properties[] = {
    {"width", get_width, NULL, "The desktop's, in pixels.", NULL},
    {"height", get_height, NULL, "The desktop's, in pixels.", NULL},
    {"extended_buttons", get_extended_buttons, NULL, "Whether the server takes pointer events with nine buttons.", NULL},
    {"fresh", get_fresh, NULL, "Whether frame() would return a frame that it didn't before.", NULL},
    {"error", get_error, NULL, "Why the connection is dead, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"frame", connection_frame, METH_NOARGS, "The latest frame: (array, updates, pixels, at), or None."},
    {"send", connection_send_method, METH_VARARGS, "Send bytes; False: the connection is closed or dead."},
    {"close", connection_close_method, METH_NOARGS, "Hang up. Frames that were taken stay."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, connection_new},
    {Py_tp_dealloc, connection_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, "A VNC connection after its handshake, which reads and decodes on threads without the GIL."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pluriverse.rfb._native.NativeConnection",
    .basicsize = sizeof(ConnectionObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

PyObject *make_connection_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
