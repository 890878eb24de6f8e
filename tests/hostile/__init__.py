"""Bad inputs by the thousand: what each surface is given, and how an attempt is watched.

Case `number` of a surface is drawn from a generator that is seeded by the two, so that each can be run again alone.
"""
