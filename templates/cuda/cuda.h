// In place of the toolkit's header: the prelude has everything of it but the driver's functions.
#pragma once

#include "kernelmill/driver.h"
