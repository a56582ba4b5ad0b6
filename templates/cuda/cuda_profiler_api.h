// In place of the toolkit's header: the prelude has everything of it already.
#pragma once
