/* Debian compiles libjpeg.a for programs, not for shared libraries; all that keeps it out of one is that it looks for
 * stderr next to itself. It is only printed to by the error handler that rfb_jpeg.c replaces. */
struct file;

__attribute__((visibility("hidden"))) struct file *stderr;
