// Refuses settings that nothing reads, and completes settings that are objects.

// The plugin finds the known name that looks most like a wrong one; without it, none is suggested.
local hint(name, known, prefix) =
  local closest = std.native('closest');
  if closest == null then '' else " (the closest is '%s')" % (prefix + closest(std.join(' ', [name] + known)));

// The settings whose parts have defaults of their own. Other objects, such as source_weights, have any fields.
local is_group(default) = std.isObject(default) && std.length(default) > 0;

local unknown(given, defaults, prefix='') = std.flattenArrays([
  if !std.objectHas(defaults, name) then
    ["there is no setting '%s'%s" % [prefix + name, hint(name, std.objectFields(defaults), prefix)]]
  else if is_group(defaults[name]) && !std.isObject(given[name]) then
    ["the setting '%s' is an object with %s" % [prefix + name, std.join(', ', std.objectFields(defaults[name]))]]
  else if is_group(defaults[name]) then
    unknown(given[name], defaults[name], prefix + name + '.')
  else []
  for name in std.objectFields(given)
]);

{
  // What is wrong with these settings, in one line; empty if nothing is.
  mistakes(parser, given, defaults)::
    local found = unknown(given, defaults);
    if found == [] then '' else 'settings of %s: %s; training_config/README.md lists them all' % [parser, std.join('; ', found)],

  // The settings, with defaults for the parts that are left out.
  complete(given, defaults):: {
    [name]: if is_group(defaults[name]) then defaults[name] + given[name] else given[name]
    for name in std.objectFields(given)
  },
}
