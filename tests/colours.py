"""Contrast of colours as a browser reports them."""

import re


def channels(colour):
    """Return red, green and blue of a CSS colour, 0 to 255."""
    if colour.startswith("#"):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        return [int(digits[i:i + 2], 16) for i in (0, 2, 4)]
    return [float(v) for v in re.findall(r"[\d.]+", colour)[:3]]


def contrast(one, other):
    """Return the contrast ratio of two sRGB colours as WCAG 2 defines it."""
    def luminance(rgb):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
