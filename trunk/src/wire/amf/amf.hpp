// One include for all of AMF: the value type, its limits and both codecs.
#pragma once

#include "wire/amf/amf0.hpp"
#include "wire/amf/amf3.hpp"
#include "wire/amf/limits.hpp"
#include "wire/amf/value.hpp"
