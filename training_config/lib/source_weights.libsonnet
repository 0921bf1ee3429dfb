// How often a question of each source is seen in an epoch. The training rows that the settings were chosen with have many
// questions of some sources and few of others; these weights bring the shares closer to those of the development rows.
{
  NLVR2: 1.5,
  COMQA: 1.5,
  CWQ: 1.5,
  CLEVR: 0.7,
  GEO: 0.5,
  ATIS: 0.35,
  SPIDER: 0.35,
  ACADEMIC: 0.35,
  IMDB: 0.5,
  YELP: 0.5,
}
