"""Programs that say what a recording's pictures show, for a person to accept or to correct.

Such a program gets a line of JSON on its standard input for each picture, and writes one for each to its output, in any
order, before it ends::

    {"id": 0, "source": "score", "kind": "number", "at": 1.25, "region": [8, 8, 72, 20], "png": "iVBORw0KGgo…"}
    {"id": 0, "value": 120, "confidence": 0.97}

``png`` is a picture in base64: what was in the source's ``region``, or with --frames the whole screen. ``kind`` is
``number``, ``string`` or ``boolean``, or null where values may be of any. A ``value`` of null is no proposal;
``confidence``, of 0 to 1, is 1 unless it says otherwise.
"""
