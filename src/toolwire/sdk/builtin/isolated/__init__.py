"""Work that is done in a process of its own, because it might never end; it knows nothing of tools.

A regular expression that a model wrote, or a page that somebody made to do harm, may keep Python busy forever, and
while the regular expression engine works no other thread of its process does. So files are searched and pages converted
by a child process, which can be stopped. To start in milliseconds the child loads these modules alone, so they import
nothing but the standard library and each other.
"""
