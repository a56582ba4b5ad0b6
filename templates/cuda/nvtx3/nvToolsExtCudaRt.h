// In place of the header of this name, whose functions are with the others.
#pragma once

#include "nvToolsExt.h"
