// Latent-RAT of the paper: its encoder and its settings, which are the defaults.
local latent_rat = import 'lib/latent_rat.libsonnet';

latent_rat()
