kernel void empty(uint nothing)
{
}
