#include <stdio.h>

#include "privet.h"

int main(void)
{
    puts(pv_version());
    return 0;
}
