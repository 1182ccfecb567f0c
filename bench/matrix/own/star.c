/* A star that a pad of a NES moves. */
#include <conio.h>
#include <joystick.h>
#include <nes.h>

int main(void) {
    unsigned char x = 16, y = 14, pad;
    joy_install(joy_static_stddrv);
    cputsxy(4, 2, "a star");
    for (;;) {
        pad = joy_read(JOY_1);
        cputcxy(x, y, ' ');
        x = (x + (JOY_RIGHT(pad) != 0) - (JOY_LEFT(pad) != 0)) & 31;
        y = 4 + (y - 4 + (JOY_DOWN(pad) != 0) - (JOY_UP(pad) != 0)) % 20;
        cputcxy(x, y, JOY_BTN_1(pad) ? 'o' : '*');
        waitvsync();
    }
}
