// The same for test programs.
#pragma once

#include "precompiled.hpp"

#include <gtest/gtest.h>
