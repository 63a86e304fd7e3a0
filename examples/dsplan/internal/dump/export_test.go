package dump

// The conversion that is used and the plain one that it must agree with: what takes a list
// apart is an optimization, which nothing that is exported can tell from its absence.
var (
	ListToJSON  = listToJSON
	WholeToJSON = wholeToJSON
)
