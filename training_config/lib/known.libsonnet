// Refuses settings that nothing reads, and completes settings that are objects.

// How many letters must be added, removed or changed to get from one name to the other.
local distance(one, other) =
  local row(above, i) = std.foldl(
    function(row, j)
      local changed = above[j] + (if one[i] == other[j] then 0 else 1);
      row + [std.min(changed, 1 + std.min(row[j], above[j + 1]))],
    std.range(0, std.length(other) - 1),
    [i + 1],
  );
  std.foldl(row, std.range(0, std.length(one) - 1), std.range(0, std.length(other)))[std.length(other)];

local nearest(name, known) = std.foldl(
  function(best, each) if distance(name, each) < distance(name, best) then each else best, known, known[0]
);

// The settings whose parts have defaults of their own. Other objects, such as source_weights, have any fields.
local is_group(default) = std.isObject(default) && std.length(default) > 0;

local unknown(given, defaults, prefix='') = std.flattenArrays([
  if !std.objectHas(defaults, name) then
    ["there is no setting '%s' (the closest is '%s')" % [prefix + name, prefix + nearest(name, std.objectFields(defaults))]]
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
